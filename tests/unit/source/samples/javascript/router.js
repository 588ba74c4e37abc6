#!/usr/bin/env node
'use strict';

const http = require('node:http');
const { join } = require('node:path');
const { LIMIT, mode: runMode } = loadSettings();

/** Requests that wait longer than this are dropped. */
const TIMEOUT_MS = 5_000;
let counter = 0, seen;
var legacy = true;

/**
 * Match one path against a pattern.
 *
 * @param {string} pattern may hold `:name` parts
 */
function match(pattern, path) {
  const parts = pattern.split('/');
  let index = 0;
  function isName(part) { return part.startsWith(':'); }
  const strip = (part) => part.slice(1);
  return parts.every((part) => isName(part) || part === path[index++], strip);
}

// Yields the routes in order.
export async function* walk(routes) {
  yield* routes;
}

export const wait = async (ms) =>
  new Promise((resolve) => setTimeout(resolve, ms)), noop = () => {};

var parse = function parseUrl(url) {
  return new URL(url);
}, format = function (url) {
  return String(url);
};

@sealed
export class Router extends http.Server {
  static #instances = new Map();
  prefix = '/';
  'content-type' = 'text/html';

  static {
    Router.created = 0;
  }

  constructor(options) {
    super();
    this.close = () => { counter = 0; };
  }

  // Adds a route.
  @logged({
    level: 'debug',
  })
  static async add(route, handler = (request) => request.end()) {
    await handler(route);
  }

  get size() { return this.#count(); }
  set size(value) {}

  *[Symbol.iterator]() {
    yield* this.routes;
  }

  #count() { return 0; }
  onError = (error) => {
    console.error(error);
  };
}

const Plain = class { run() {} };

/** Old style type. */
function Layer(path) {
  if (!(this instanceof Layer)) return new Layer(path);
}

Layer.prototype.handle = function handle(request) {
  request.end();
};
Layer.of = (path) => new Layer(path);
Layer.prototype.parts = [];

exports.createRouter = function () { return new Router(); };
module.exports.version = () => '1.0';

const helpers = {
  limit: 10,
  trim(text) { return text.trim(); },
  upper: (text) => text.toUpperCase(),
  'to-lower': function (text) {
    return text.toLowerCase();
  },
};

export let current = null;
export const [head, tail] = split(helpers);

describe('router', () => {
  it('matches', () => { const a = 1; match('/', '/'); });
});

export default {
  name: 'router',
  methods: { go(path) { return join(path); } },
  data: () => ({ count: 0 }),
};

router.Node.prototype.visit = function () {};
