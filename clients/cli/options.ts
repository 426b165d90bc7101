/** Settings that several commands share, beside those of schemas/settings.ts. */
import { z } from 'zod';
import { Family, Level, Split } from '../../schemas/task.ts';

export const JSON_SETTING = z.boolean().default(false).describe('Print JSON, one object a line');

export const TASK_SETTINGS = {
  split: Split.optional().describe('Split of the suite'),
  family: Family.optional().describe('Family of diagrams'),
  level: Level.optional().describe('Level, from easy to hard'),
};
