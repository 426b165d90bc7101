/**
 * Actions -> canvas. Actions run in order on the start canvas. A refused action changes nothing and adds an error
 * `action <index>: <message>`; the others still run. Pure: neither the actions nor the start are changed.
 */
import { type Action, type ActionSet, type ActionType } from '../../schemas/action.ts';
import type { ActionError } from '../../schemas/reward.ts';
import { type Board, createBoard, toCanvas } from './board.ts';
import { connect, createShape, type Handler } from './core-actions.ts';
import { deleteShape, disconnect, done, moveShape, resizeShape, select, setText } from './editor-actions.ts';
import { canvasFault, type Fault, isName, nameFault, quote, schemaFault } from './faults.ts';
import type { ApplyOptions, ApplyResult, ApplyStart, RawAction, RejectedAction, Style } from './types.ts';

export type { ApplyOptions, ApplyResult, ApplyStart } from './types.ts';

const CORE = { create_shape: createShape, connect } as const;
const EDITOR = {
  ...CORE,
  move_shape: moveShape,
  resize_shape: resizeShape,
  set_text: setText,
  delete_shape: deleteShape,
  disconnect,
  select,
  done,
} as const satisfies Record<ActionType, Handler>;

const HANDLERS: Readonly<Record<ActionSet, ReadonlyMap<string, Handler>>> = {
  core: new Map(Object.entries(CORE)),
  editor: new Map(Object.entries(EDITOR)),
};

/** Never throws. Linear in the number of actions, but for deletions, which walk the arrows. */
export function applyActions(actions: readonly RawAction[], start: ApplyStart, options: ApplyOptions): ApplyResult {
  const style = options.style ?? 'lenient';
  const handlers = HANDLERS[options.action_set];
  const board = createBoard(start);
  const applied: Action[] = [];
  const rejected: RejectedAction[] = [];
  let schemaValid = 0;
  for (const [index, action] of actions.entries()) {
    const outcome = run(action, board, handlers, style);
    if ('fault' in outcome) {
      rejected.push({ index, action, error: toError(outcome, index) });
      if (outcome.schema_valid) schemaValid++;
    } else applied.push(outcome);
  }
  return {
    canvas: toCanvas(board),
    selected: board.selected,
    submitted: board.submitted,
    errors: rejected.map((each) => each.error),
    counts: { actions: actions.length, schema_valid: schemaValid + applied.length, accepted: applied.length },
    applied,
    rejected,
  };
}

function run(action: RawAction, board: Board, handlers: ReadonlyMap<string, Handler>, style: Style): Action | Fault {
  const { type } = action;
  if (!isName(type)) return nameFault('type');
  const handler = handlers.get(type);
  if (handler === undefined) return schemaFault('unknown_action_type', `unknown action type: ${quote(type, style)}`);
  if (board.submitted) return canvasFault('after_done', 'no action may follow done: put done last');
  return handler(action, board, style);
}

function toError(fault: Fault, index: number): ActionError {
  return { code: fault.fault, message: `action ${index}: ${fault.message}`, index };
}
