/**
 * Files that are whole or not there: written under a temporary name beside the place they go to, flushed, then renamed.
 * The temporary name holds the writer's process id, so that what a killed writer left is found and taken away by the next
 * one. Left out: power that fails between the rename and the folder's own flush.
 */
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Whether a process lives: one of another user counts. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * When a process began, as the kernel counts it: tells it from an earlier one of the same id. '' where there is no /proc.
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html, field 22; the name in field 2 may hold spaces.
 */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** The error of the file system with the path that it leaves out. */
function writeError(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  return new Error(`${path} could not be written: ${error.message}`, { cause: error });
}

/** Removes temporary files of writers of `path` that are gone. */
function removeLeftovers(path: string): void {
  const [folder, name] = [dirname(path), basename(path)];
  for (const other of readdirSync(folder)) {
    const pid = other.startsWith(`${name}.`) && /^\.(\d+)\.tmp$/.exec(other.slice(name.length))?.[1];
    if (pid && !isAlive(Number(pid))) rmSync(join(folder, other), { force: true });
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Puts a file in place once `write` has written all of it to the path it is given; what was there stays until then, and
 * stays where `write` fails. What is no plain file (a device, a pipe) is written to directly.
 */
export async function replaceFile<T>(path: string, write: (path: string) => T | Promise<T>): Promise<T> {
  const place = existsSync(path) ? realpathSync(path) : path;
  if (existsSync(place) && !statSync(place).isFile()) return write(place);
  const temporary = `${place}.${process.pid}.tmp`;
  try {
    removeLeftovers(place);
    const result = await write(temporary);
    flush(temporary);
    renameSync(temporary, place);
    return result;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeError(path, error);
  }
}

/** Writes a file whole or not at all. */
export function writeAtomic(path: string, content: string | Uint8Array): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    removeLeftovers(path);
    writeFileSync(temporary, content);
    flush(temporary);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeError(path, error);
  }
}
