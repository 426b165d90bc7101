/** Settings that several commands share. */
import { z } from 'zod';
import { Family, Level, Split } from '../../schemas/task.ts';

export const URL_SETTING = z.url().optional().describe('Address of the environment; without it one is started');
export const DB_SETTING = z.string().min(1).default('runs/canvas-gym.db').describe('The log, a SQLite file');
export const RUNS_SETTING = z.string().min(1).default('runs').describe('Folder of run folders');
export const JSON_SETTING = z.boolean().default(false).describe('Print JSON, one object a line');

export const TASK_SETTINGS = {
  split: Split.optional().describe('Split of the suite'),
  family: Family.optional().describe('Family of diagrams'),
  level: Level.optional().describe('Level, from easy to hard'),
};
