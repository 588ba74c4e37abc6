export * from './purse';
export { open as openPurse } from './open.js';
