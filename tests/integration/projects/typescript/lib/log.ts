export default function log(text: string) {}
export const warn = (t: string) => log(t);
