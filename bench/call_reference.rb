# Writes what each call of a Ruby project was to while a program ran, in the form of call_reference.py.
#
#   CALLS_IN=FOLDER CALLS_TO=reference.jsonl ruby -r ./bench/call_reference.rb PROGRAM
#
# Only what ran is known. Besides the method that ran, those that it overrides are right answers. A line on which the
# name does not stand was called by other means, and has no row.
require "json"

module CallReference
  ROOT = File.realpath(ENV.fetch("CALLS_IN"))
  NAME = /\A[a-z_]\w*[?!]?\z/
  @sites = {}
  @texts = {}

  class << self
    def start
      @trace = TracePoint.new(:call, :c_call) { |event| event.event == :call ? called(event) : made(event) }
      @trace.enable
    end

    def called(event)
      return unless inside?(event.path) && event.method_id.match?(NAME) && event.method_id != :initialize

      place = caller_locations(3, 1)&.first
      return unless place && inside?(place.path)

      add(place.path, place.lineno, event.method_id.to_s) { targets(event) }
    end

    def made(event)
      return unless event.method_id == :new && event.self.is_a?(Class) && inside?(event.path)

      add(event.path, event.lineno, "new") do
        sources_of(event.self).map { |path, line| [path, line, event.self.name[/\w+\z/]] }
      end
    end

    def add(path, line, name)
      found = (@sites[[path, line, name]] ||= {})
      key = yield
      found[key] = true
    end

    def targets(event)
      method = event.self.method(event.method_id) rescue nil
      found = [[event.path, event.lineno, event.method_id.to_s]]
      while method
        path, line = method.source_location
        found << [path, line, method.original_name.to_s] if path && inside?(path)
        method = method.super_method
      end
      found.uniq
    end

    # A constant that is loaded when it is first used may be said to be where that is arranged.
    def sources_of(type)
      return [] unless type.name

      methods = type.instance_methods(false).first(20).map { |name| type.instance_method(name) }
      methods << type.instance_method(:initialize) if type.private_instance_methods(false).include?(:initialize)
      places = [Object.const_source_location(type.name), *methods.map(&:source_location)]
      places.select { |place| place&.first && inside?(place.first) }.uniq(&:first)
    end

    def inside?(path)
      path.start_with?(ROOT) && !path.start_with?("#{ROOT}/vendor")
    end

    def stop
      @trace.disable
      File.open(ENV.fetch("CALLS_TO"), "a") do |file|
        @sites.each do |(path, line, name), found|
          next unless says?(path, line, name)

          targets = found.keys.flatten(1).uniq.map { |target, at, called| [relative(target), at, called] }
          file.puts(JSON.generate([relative(path), line, name, targets]))
        end
      end
    end

    def says?(path, line, name)
      text = (@texts[path] ||= File.readlines(path))[line - 1] || ""
      text.match?(/(?<![\w@:])#{Regexp.escape(name)}(?![\w?!]|:[^:]|\s*=[^=~>])/) && !text.match?(/^\s*def\s+(self\.)?#{Regexp.escape(name)}(?![\w?!])/)
    end

    def relative(path)
      path.delete_prefix("#{ROOT}/")
    end
  end
end

CallReference.start
at_exit { CallReference.stop }
