/** The handlers of OpenRLHF, slime, miles and FAI-RL; see schemas/protocols/remote-reward.ts for what each sends. */
import { isCompletion } from '../../../schemas/completion.ts';
import type { FaiRlRequest, OpenRlhfRequest } from '../../../schemas/protocols/remote-reward.ts';
import type { Preset } from '../../../schemas/reward.ts';
import { invalidAt } from '../../errors.ts';
import { assertEqualColumns, assertTaskColumn } from '../../grade.ts';
import type { Context, Handlers } from '../../context.ts';
import { stripSpecialTokens, toResponseText } from './chat-text.ts';
import { scoreItems, taskOfLabel, taskOfPrompt, type Item, type Scored } from './items.ts';

function openRlhfItems({ query, prompts, labels }: OpenRlhfRequest): Item[] {
  assertEqualColumns({ query, prompts, labels });
  return query.map((text, i) => {
    const prompt = prompts?.[i];
    const completion = toResponseText(text, prompt);
    if (completion === undefined) {
      throw invalidAt(
        ['body', 'query', i],
        `does not hold the end of prompts[${i}], so there is no telling where the response begins`,
      );
    }
    const task = taskOfLabel(labels?.[i], ['body', 'labels', i]) ?? taskOfPrompt(prompt, ['body', 'prompts', i]);
    return { ...task, completion };
  });
}

/** The components of items, whose names are those of the preset, as one column for each name. */
function toColumns(components: Scored['components'], first: Scored['components'][0]): Record<string, number[]> {
  return Object.fromEntries(Object.keys(first).map((name) => [name, components.map((item) => item[name]!)]));
}

function faiRlItems({ prompts, completions, context }: FaiRlRequest): Item[] {
  assertTaskColumn(context);
  const { task_id, task } = context ?? {};
  assertEqualColumns({ completions, prompts, 'context.task_id': task_id, 'context.task': task });
  return completions.map((completion, i) => {
    if (!isCompletion(completion)) {
      throw invalidAt(
        ['body', 'completions', i],
        'must be a text, or a list of chat messages with one of the role "assistant"',
      );
    }
    const named =
      taskOfLabel(task_id?.[i], ['body', 'context', 'task_id', i]) ??
      taskOfLabel(task?.[i], ['body', 'context', 'task', i]);
    return { ...(named ?? taskOfPrompt(prompts[i], ['body', 'prompts', i])), completion };
  });
}

export function remoteRewardHandlers(
  context: Context,
): Pick<Handlers, 'openrlhf_get_reward' | 'slime_rm' | 'fai_rl_score'> {
  /** For a batch without items. */
  const emptyComponents = (reward: Preset | undefined): Scored['components'][0] =>
    context.environment.reward({ prompt: '', completion: '', reward }).components;
  return {
    openrlhf_get_reward: async ({ body, query }) => {
      const { rewards, components } = await scoreItems(openRlhfItems(body), query.reward, context);
      const answer = { rewards, scores: rewards };
      if (query.extra_logs === 'none') return answer;
      return { ...answer, extra_logs: toColumns(components, components[0] ?? emptyComponents(query.reward)) };
    },
    slime_rm: async ({ body, query }) => {
      const task = taskOfLabel(body.label, ['body', 'label']) ?? taskOfPrompt(body.prompt, ['body', 'prompt']);
      const item = { ...task, completion: stripSpecialTokens(body.response) };
      const { rewards, components } = await scoreItems([item], query.reward, context);
      return query.reward_key === undefined ? rewards[0]! : { ...components[0], [query.reward_key]: rewards[0]! };
    },
    fai_rl_score: async ({ body }) => {
      const { rewards } = await scoreItems(faiRlItems(body), body.reward, context);
      return { rewards };
    },
  };
}
