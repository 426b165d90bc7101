/** Headless Chromium for one page at a time: the page after its scripts have run, and what it wrote to the console. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface OpenedPage {
  dom: string;
  /** Errors of the page itself: exceptions, failed loads, console.error. */
  errors: string[];
}

/** Every host but loopback is unreachable, so that a page which needs the network shows it. */
const OFFLINE = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost';

export async function openPage(url: string): Promise<OpenedPage> {
  const profile = await mkdtemp(join(tmpdir(), 'chromium-'));
  const flags = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    `--user-data-dir=${profile}`,
  ];
  const log = ['--enable-logging=stderr', '--log-level=0', '--virtual-time-budget=5000'];
  try {
    const args = [...flags, ...log, OFFLINE, '--dump-dom', url];
    const { stdout, stderr } = await promisify(execFile)('chromium', args, { timeout: 60_000, maxBuffer: 2 ** 26 });
    const errors = stderr
      .split('\n')
      .filter((line) => line.includes('CONSOLE') && /Uncaught|Failed to load|Refused to|ERR_/.test(line));
    return { dom: stdout, errors };
  } finally {
    await rm(profile, { recursive: true, force: true });
  }
}
