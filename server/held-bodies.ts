/**
 * Bounds the bytes of request bodies that a process holds: those that come in, and those whose answer is still being made.
 * Each body has a limit of its own; without a common one, a few dozen of the largest would fill the memory.
 */
import { ApiError } from './errors.ts';

export interface HeldBodies {
  /** Takes room for so many bytes; false where there is none. */
  take(bytes: number): boolean;
  /** Gives room back that was taken. */
  give(bytes: number): void;
}

/** @param most Bytes at a time. Parsed, they take several times as much memory. */
export function createHeldBodies(most: number): HeldBodies {
  let held = 0;
  return {
    take(bytes) {
      if (held + bytes > most) return false;
      held += bytes;
      return true;
    },
    give(bytes) {
      held -= bytes;
    },
  };
}

/** Called for every part of a body before it is held. @throws ApiError overloaded. */
export type HoldBytes = (bytes: number) => void;

/** Reads a body and answers it while its bytes are held, as many as it turns out to have. */
export async function whileHeld<A>(bodies: HeldBodies, answer: (hold: HoldBytes) => Promise<A>): Promise<A> {
  let held = 0;
  const hold: HoldBytes = (bytes) => {
    if (!bodies.take(bytes)) {
      const headers = { 'retry-after': '1' };
      throw new ApiError('overloaded', 'too many large bodies come in or wait; repeat the request later', { headers });
    }
    held += bytes;
  };
  try {
    return await answer(hold);
  } finally {
    bodies.give(held);
  }
}
