# frozen_string_literal: true

require "bigdecimal"

=begin
Everything about money that moves between accounts.
=end
module Finance
  CURRENCIES = %w[EUR USD].freeze
  MIN, MAX = 1, 10_000

  # Raised when an account cannot pay.
  class InsufficientFunds < StandardError; end

  Timeout = Class.new(StandardError)

  # A single booking.
  Entry = Struct.new(:amount, :text) do
    def credit? = amount.positive?

    def <=>(other)
      amount <=> other.amount
    end
  end

  module Auditable
    def self.included(base)
      base.extend(ClassMethods)
    end

    module ClassMethods
      def audit(*names)
        names.each do |name|
          define_method(:"audited_#{name}") { audit_log << name }
        end
      end
    end
  end

  # Holds entries and knows its balance.
  #
  # It is not thread safe.
  class Ledger::Account < Base
    include Auditable

    attr_reader :owner, :entries
    attr_accessor "limit"
    cattr_accessor :registry,
                   :sequence

    class << self
      attr_writer :default_limit

      # Opens an account.
      def open(owner, limit: 0)
        new(owner).tap { |account| account.limit = limit }
      end
    end

    def initialize(owner)
      @owner = owner
      local = []
      @entries = local
    end

    def self.find(id) = registry.fetch(id)

    def [](index)
      entries[index]
    end

    def limit=(value)
      @limit = BigDecimal(value)
    end

    # Books an entry
    # and returns the new balance.
    memoize def balance
      entries.sum do |entry|
        entry.amount
      end
    end

    define_method :empty? do
      entries.empty?
    end

    alias total balance
    alias_method :sum, :balance
    alias_method "blank?", :empty?

    private def secret; end

    protected

    def merge!(other); entries.concat(other.entries); end
  end
end

def helper(value, *rest, key: nil, **options, &block)
  value
end

def Finance.reset! = Finance::Ledger::Account.registry&.clear

DEFAULT = ->(x) { x * 2 }
Finance::LIMIT ||= 5

namespace :ledger do
  desc "Closes the books"
  task close: :environment do
    helper(1)
  end

  task(:reopen) { helper(2) }
end

class LedgerTest < ActiveSupport::TestCase
  test "an empty account has no balance" do
    assert_equal 0, Finance::Ledger::Account.new("x").balance
  end
end
