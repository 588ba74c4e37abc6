package org.example.bank;

import java.util.List;
import java.util.function.Function;

/**
 * Keeps accounts.
 *
 * @param <T> kind of account
 */
@Deprecated
@SuppressWarnings({
    "unchecked",
    "rawtypes"})
public abstract sealed class Ledger<T extends Account & Comparable<T>> extends Base implements Runnable permits Book {
    /** No more than this. */
    public static final int LIMIT = 100;
    private int count, sizes[] = {1, 2};
    protected final Function<String, Integer> parse = text -> Integer.parseInt(text);

    static {
        System.loadLibrary("ledger");
    }

    // Opens an empty ledger.
    @Inject
    protected Ledger(int count) {
        this.count = count;
    }

    Ledger() { this(0); }

    /** Finds one account. */
    public <K> T find(K key) throws NotFoundException {
        class Local {
            int depth;
        }
        Runnable job = new Runnable() {
            private int tries = 0;

            @Override
            public void run() {
                tries++;
            }
        };
        return null;
    }

    public T find(String name, int... ids) { return null; }

    protected abstract List<? extends T> all();

    @Override public synchronized void run() {}

    native int[] codes(long handle)[];

    public enum State implements Supplier<String> {
        OPEN {
            @Override public String get() { return "open"; }
        },
        CLOSED;

        private final String label;

        State() { this.label = name(); }

        public String get() { return label; }
    }

    /** A sum of money. */
    public record Money<C>(long cents, C currency) implements Comparable<Money<C>> {
        static final Money<?> ZERO = null;

        public Money {
            if (cents < 0) throw new IllegalArgumentException();
        }

        Money(long cents) { this(cents, null); }

        @Override
        public int compareTo(Money<C> other) { return 0; }
    }

    @interface Audited {
        String value() default "";
        int LEVEL = 3;
    }

    interface Listener<E> {
        int MAX = 10;

        void changed(E event);

        default void closed() {}

        static <E> Listener<E> none() { return event -> {}; }

        class Adapter implements Listener<Object> {
            public void changed(Object event) {}
        }
    }
}

final class Book extends Ledger<Account> {
    protected List<Account> all() { return List.of(); }
}
