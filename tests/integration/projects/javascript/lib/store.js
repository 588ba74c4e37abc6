class Store { load() {} }
module.exports = Store;
