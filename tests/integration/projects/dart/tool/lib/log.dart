void log(String text) {}
