/** What of NVIDIA's software is on this machine: the driver, the cards, and the libraries that TensorFlow loads. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { nativeFolder } from './packages.ts';

export interface Cuda {
  /** Version of the driver; undefined for none. */
  readonly driver: string | undefined;
  /** One line for each card, e.g. "NVIDIA H200, 143771 MiB". */
  readonly cards: readonly string[];
  readonly libraries: readonly CudaLibrary[];
}

export interface CudaLibrary {
  readonly file: string;
  readonly isFound: boolean;
}

/** What TensorFlow 2.21 loads at its start; without any one of them it leaves the GPU alone. Package of PyPI, then file. */
const LIBRARIES: readonly (readonly [string, string])[] = [
  ['cuda_runtime', 'libcudart.so.12'],
  ['cublas', 'libcublas.so.12'],
  ['cublas', 'libcublasLt.so.12'],
  ['cufft', 'libcufft.so.11'],
  ['cusolver', 'libcusolver.so.11'],
  ['cusparse', 'libcusparse.so.12'],
  ['cudnn', 'libcudnn.so.9'],
];

export function findCuda(): Cuda {
  return {
    driver: driverVersion(),
    cards: cardLines(),
    libraries: LIBRARIES.map(([folder, file]) => ({ file, isFound: isInSetup(folder, file) || isLoadable(file) })),
  };
}

/** Why there is no GPU to compute on, and what to change; undefined if nothing is missing. */
export function cudaFault({ driver, cards, libraries }: Cuda): string | undefined {
  if (driver === undefined) return 'there is no NVIDIA driver: install it, or give the container the GPU (--gpus all)';
  if (cards.length === 0) return `the driver ${driver} shows no GPU: see nvidia-smi`;
  const missing = libraries.filter(({ isFound }) => !isFound).map(({ file }) => file);
  if (missing.length === 0) return undefined;
  return `CUDA libraries are missing (${missing.join(', ')}): npm run setup:native:gpu brings them`;
}

function driverVersion(): string | undefined {
  const [version] = queryCards('driver_version');
  if (version !== undefined) return version;
  const path = '/proc/driver/nvidia/version';
  return existsSync(path) ? /Kernel Module\s+(?:for \S+\s+)?([\d.]+)/.exec(readFileSync(path, 'utf8'))?.[1] : undefined;
}

const cardLines = (): string[] => queryCards('name,memory.total');

/** Lines that nvidia-smi prints about each card; none where it is not there or fails. */
function queryCards(fields: string): string[] {
  try {
    const text = execFileSync('nvidia-smi', [`--query-gpu=${fields}`, '--format=csv,noheader'], {
      ...{ encoding: 'utf8', timeout: 20_000 },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\n').filter((line) => line.trim() !== '');
  } catch {
    return [];
  }
}

/** Where setup puts NVIDIA's packages, which is where libtensorflow looks. */
export const cudaFolder = (): string =>
  join(nativeFolder('tfjs-node-gpu'), 'node_modules/@tensorflow/tfjs-node-gpu/deps/nvidia');

function isInSetup(folder: string, file: string): boolean {
  const path = join(cudaFolder(), folder, 'lib');
  return existsSync(path) && readdirSync(path).includes(file);
}

/** Whether the loader of the system finds a library. Node loads it, sees that it is no addon, and lets it go. */
function isLoadable(file: string): boolean {
  try {
    process.dlopen({ exports: {} }, file, constants.dlopen.RTLD_LAZY);
    return true;
  } catch (error) {
    return error instanceof Error && error.message.includes('did not self-register');
  }
}
