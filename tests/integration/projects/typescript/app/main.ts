import write, { warn } from '@lib/log';
import * as base from '@lib/base';
import { Purse, openPurse } from '@acme/core';
import type { Closing } from '../lib/base';
export class App extends base.Base implements Closing {
  constructor(private readonly purse: Purse) { super(); }
  close() { this.purse.pay(1); write('x'); this.start(); }
  run() { openPurse().pay(2); items.map(warn); }
}
