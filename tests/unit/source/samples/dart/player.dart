/// Plays tracks.
library player;

import 'dart:async';

part 'player.g.dart';

/// How loud it can get.
const int maxVolume = 11;
final String vendor = 'Acme', model = 'P1';
var _players = 0;
late final Timer ticker;

typedef Listener<T> = void Function(T event);
typedef int Compare(Track a, Track b);

external int nativeClock();

int get playerCount => _players;
set playerCount(int value) {
  _players = value;
}

/// Entry point.
Future<void> main(List<String> args) async {
  void report(String text) => print(text);
  final player = Player('a');
  await player.play();
}

Stream<int> ticks() async* {
  yield 1;
}

@immutable
abstract class Playable<T extends Object> implements Comparable<T> {
  const Playable();

  /// Starts it.
  Future<void> play({bool loop = false});
  int get length;
}

class Player extends Playable<Track> with Mixing {
  static const int channels = 2;
  static final registry = <String, Player>{};
  final String name;
  int? _volume, balance = 0;
  late String device;

  Player(this.name);
  Player._internal(this.name) : device = 'x' {
    _players++;
  }
  const Player.silent({required this.name}) : super();
  factory Player.fromJson(Map<String, dynamic> json) {
    return Player(json['name'] as String);
  }
  factory Player.remote(String name) = RemotePlayer;

  @override
  @pragma('vm:prefer-inline')
  Future<void> play({bool loop = false}) async {
    while (loop) {
      await Future.delayed(Duration.zero);
    }
  }

  @override int get length => 0;
  set volume(int value) => _volume = value;
  static Player? find(String name) => registry[name];
  bool operator ==(Object other) => other is Player;
  Track operator [](int index) {
    return Track(index);
  }
  external void reset();
  R map<R>(R Function(Player) f) => f(this);
}

mixin Mixing on Playable<Track> {
  void mix() {}
}
class Silent = Player with Mixing;

enum Speed { slow, fast }

enum Format implements Comparable<Format> {
  mp3('audio/mpeg'),
  ogg('audio/ogg');

  const Format(this.mime);
  final String mime;

  @override
  int compareTo(Format other) => index - other.index;
}

extension Minutes on int {
  Duration get minutes => Duration(minutes: this);
}
extension on String { bool get blank => trim().isEmpty; }
extension type TrackId(int value) {
  TrackId.zero() : value = 0;
  TrackId next() => TrackId(value + 1);
}

class Untyped {
  Untyped(this.count);
  start(int count) {
    stop();
  }

  stop() => count;
}
