import type { Reader } from './reader';
import fs = require('fs');

/** How often the store writes. */
export const INTERVAL: number = 1_000;
declare const BUILD: string, COMMIT: string;
export type Key = string | symbol;
type Entry<T> = {
  key: Key;
  value: T;
};

// What the outside may do.
export interface Store<T extends object = {}> extends Reader<T> {
  (key: Key): T;
  new (name: string): Store<T>;
  readonly size: number;
  'last-error'?: Error;
  get(key: Key): T | undefined;
  set?<V extends T>(
    key: Key,
    value: V,
  ): this;
  onChange: (key: Key) => void;
  [index: number]: T;
}

export const enum Level { Low, High = 10 }

declare global {
  interface Window { store: Store; }
  var debug: boolean;
}

declare module 'legacy' {
  export function open(path: string): void;
  const version: string;
}

export namespace Codec.Json {
  const indent = 2;
  export function encode(value: unknown): string { return JSON.stringify(value, null, indent); }
  export namespace Inner { export type Raw = string; }
}

export declare function connect(url: string): Promise<void>;

/** Open one store. */
export function open(path: string): MemoryStore<object>;
export function open(path: URL, level: Level): MemoryStore<object>;
export function open(path: string | URL, level?: Level): MemoryStore<object> {
  const text = String(path);
  type Local = typeof text;
  return new MemoryStore(text as Local);
}

export abstract class Base<T> {
  protected abstract readonly name: string;
  abstract flush(force?: boolean): Promise<void>;
  protected constructor(private readonly path: string) {}
}

/**
 * Keeps everything in memory.
 */
@Injectable()
@Component({
  selector: 'store',
})
export class MemoryStore<T extends object> extends Base<T> implements Store<T> {
  static readonly #cache = new Map<string, unknown>();
  declare size: number;
  @Input() name = 'memory';
  private items?: Entry<T>[];

  constructor(path: string);
  constructor(path: string, size?: number) {
    super(path);
  }

  find(key: string): T;
  find(key: symbol): T;
  find(key: Key): T { return this.items![0].value; }

  // Reacts to messages.
  @HostListener('message', [
    '$event',
  ])
  public async onMessage<E>(event: E): Promise<void> {
    await this.flush();
  }

  flush = async (): Promise<void> => {};
  get last(): T | undefined { return undefined; }
  static isStore(value: unknown): value is Store { return value instanceof MemoryStore; }
}

export const identity = <T,>(value: T): T => value;
export const handlers = {
  start() {},
  stop: async () => {},
} satisfies Record<string, () => void>;
let pending: Promise<void> | null = null;

export default class<T> extends MemoryStore<T & object> {}
