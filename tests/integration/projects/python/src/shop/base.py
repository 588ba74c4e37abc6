class Base:
    def save(self):
        self.check()

    def check(self):
        pass
