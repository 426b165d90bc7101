/**
 * Grammar-constrained decoding: which tokens may come next, so that only texts of a language are written (Willard, Louf
 * 2023, "Efficient Guided Generation for Large Language Models", arXiv 2307.09702). The automaton walks bytes, a token is
 * its bytes, and the tokens allowed in a state are found once, at the first visit. After that a step costs one look-up
 * and a walk over the bytes of the token that was drawn.
 *
 * Any spelling by tokens is allowed, not only the one that encoding the text would give: text is never encoded again.
 */
import type { ActionSet } from '../../schemas/action.ts';
import { createTokenMask, type TokenMask } from '../model/token-mask.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { actionLanguage } from './action-language.ts';
import { Automaton, type State } from './automaton.ts';
import { tokenBytes } from './token-bytes.ts';

export interface GrammarSettings {
  readonly action_set: ActionSet;
  /** Most actions of a completion. */
  readonly max_actions: number;
}

/** Where a completion is: what was written so far, as far as it matters for the rest. */
export interface GrammarState {
  readonly at: State | 'ended';
  /** Actions begun. */
  readonly actions: number;
}

export interface Grammar {
  readonly start: GrammarState;
  /** What may be drawn next, never nothing; <eos> is among it where the text is whole. The same object for equal states. */
  allowed(state: GrammarState): TokenMask;
  /** The state after a token; undefined where the grammar does not allow it. */
  advance(state: GrammarState, id: number): GrammarState | undefined;
}

/** Brackets and commas: before each action there is one. */
const BEFORE_ACTIONS = new Set([0x5b, 0x2c]);

const grammars = new WeakMap<Tokenizer, Map<string, Grammar>>();

/** The grammar of valid completions in a tokenizer's tokens; the same one, with what it has found out, for equal settings. */
export function actionGrammar(tokenizer: Tokenizer, settings: GrammarSettings): Grammar {
  const known = grammars.get(tokenizer) ?? new Map<string, Grammar>();
  grammars.set(tokenizer, known);
  const key = `${settings.action_set} ${settings.max_actions}`;
  const grammar = known.get(key) ?? createGrammar(tokenizer, settings);
  known.set(key, grammar);
  return grammar;
}

function createGrammar(tokenizer: Tokenizer, { action_set, max_actions }: GrammarSettings): Grammar {
  const automaton = new Automaton(actionLanguage(action_set));
  const tokens = tokenBytes(tokenizer);
  const eos = tokenizer.eos_id;
  const masks = new Map<State, Map<number, TokenMask>>();
  const isEnd = ({ at }: GrammarState): boolean => at !== 'ended' && at.isEnd;

  const advance = (state: GrammarState, id: number): GrammarState | undefined => {
    if (id === eos) return isEnd(state) ? { ...state, at: 'ended' } : undefined;
    const bytes = tokens[id];
    if (bytes === undefined || bytes.length === 0 || state.at === 'ended') return undefined;
    let { at, actions } = state;
    for (const byte of bytes) {
      const next = automaton.step(at, byte);
      if (next === null) return undefined;
      at = next;
      if (at.isMarked) actions++;
    }
    return actions > max_actions ? undefined : { at, actions };
  };

  // Of the limit only what one token could use up makes a difference.
  const most = Math.max(...tokens.map((bytes) => bytes?.filter((byte) => BEFORE_ACTIONS.has(byte)).length ?? 0));
  const findAllowed = (state: GrammarState): TokenMask => {
    const ids = Array.from({ length: tokenizer.vocab_size }, (_, id) => id);
    const allowed = ids.filter((id) => advance(state, id) !== undefined);
    if (allowed.length === 0) throw new Error('the tokenizer has no token for what the grammar asks for');
    return createTokenMask(tokenizer.vocab_size, allowed);
  };

  return {
    start: { at: automaton.start, actions: 0 },
    advance,
    allowed: (state) => {
      if (state.at === 'ended') throw new RangeError('nothing follows the end');
      const left = Math.min(most, max_actions - state.actions);
      const known = masks.get(state.at) ?? new Map<number, TokenMask>();
      masks.set(state.at, known);
      const mask = known.get(left) ?? findAllowed(state);
      known.set(left, mask);
      return mask;
    },
  };
}
