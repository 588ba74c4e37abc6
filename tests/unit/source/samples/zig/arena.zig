//! An arena of values.
const std = @import("std");
const builtin = @import("builtin").mode;
const c = @cImport(@cInclude("stdlib.h"));
const Allocator = std.mem.Allocator;

pub const version = "0.3.0";
pub const Handler = *const fn (*Event) anyerror!void;
var counter: u32 = 0;
threadlocal var depth: u8 = 0;
extern var errno: c_int;

/// What can go wrong.
pub const ArenaError = error{
    OutOfSpace,
    Closed,
} || Allocator.Error;

pub const Closed = error{AlreadyClosed};

/// A point in the plane.
pub const Point = struct {
    const Self = @This();
    pub const zero = Point{ .x = 0, .y = 0 };
    var made: usize = 0;

    /// From the left.
    x: f32 = 0,
    y: f32,

    pub fn add(self: Self, other: Self) Self {
        const sum = self.x + other.x;
        return .{ .x = sum, .y = self.y + other.y };
    }

    pub inline fn len(self: Self) f32 { return @sqrt(self.x * self.x); }

    const Kind = enum(u8) {
        flat,
        round = 4,
        _,

        fn isFlat(kind: Kind) bool {
            return kind == .flat;
        }
    };
};

pub const Event = union(enum) {
    key: u8,
    quit,

    pub fn code(self: Event) u8 {
        return switch (self) {
            .key => |k| k,
            .quit => 0,
        };
    }
};

const Flags = packed struct(u8) { read: bool, rest: u7 };
const Window = opaque {
    extern fn window_open() ?*Window;
};

/// A growing arena of `T`.
pub fn Arena(comptime T: type, comptime options: anytype) type {
    const size = options.size;
    return struct {
        items: []T,

        pub fn init(gpa: Allocator) !@This() {
            return .{ .items = try gpa.alloc(T, size) };
        }
    };
}

pub extern "c" fn puts(text: [*:0]const u8) c_int;
export fn reset() void { counter = 0; } fn noop() void {}

pub fn @"odd name"() void {}

// Starts here.
pub fn main() !void {
    const Local = struct {
        fn run() void {}
    };
    Local.run();
}

comptime {
    _ = Point;
}

test "points add up" {
    const sum = Point.zero.add(.{ .y = 1 });
    try std.testing.expect(sum.y == 1);
}

test main {
    try main();
}
