import { Purse } from './purse';
export function open(): Purse { return new Purse(); }
