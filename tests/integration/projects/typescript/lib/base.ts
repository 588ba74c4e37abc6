export abstract class Base { start() { this.stop(); } stop() {} }
export interface Closing { close(): void }
