const Store = require('./lib/store');
const { pad } = require('./lib/util');
const util = require('./lib/util');
function main() { const s = new Store(); s.load(); pad('x'); util.trim('y'); }
