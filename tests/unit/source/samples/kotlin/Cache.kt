@file:JvmName("CacheKt")

package org.example.cache

import kotlinx.coroutines.flow.Flow
import java.util.concurrent.ConcurrentHashMap

/** How long an entry lives. */
const val DEFAULT_TTL: Long = 60_000L
private val logger = Logger.of("cache")
internal val (hits, misses) = Counter() to Counter()

typealias Loader<K, V> = suspend (K) -> V?

/**
 * A cache of values by key.
 */
interface Cache<in K : Any, out V> {
    val size: Int

    suspend fun get(key: K): V?

    /** Forgets [key]. */
    fun evict(key: K) {
        println("evict $key")
    }
}

fun interface Clock {
    fun now(): Long
}

sealed interface Outcome

data class Hit<T>(val value: T, private var age: Long = 0, extra: String? = null) : Outcome

data object Miss : Outcome

// What to drop first.
enum class Policy(val label: String) {
    LRU("least recently used") {
        override fun rank(entry: Entry) = entry.used
    },
    FIFO("first in, first out");

    private val short = label.take(4)

    open fun rank(entry: Entry): Long = entry.created
}

annotation class Cached(val ttl: Long)

@JvmInline
value class Entry(val raw: Long)

/**
 * Keeps values in memory.
 */
@Suppress("UNCHECKED_CAST")
@Cached(ttl = 5)
open class MemoryCache<K : Any, V>(
    private val policy: Policy,
    protected val clock: Clock = Clock { System.currentTimeMillis() },
) : Cache<K, V>, AutoCloseable {
    private val entries = ConcurrentHashMap<K, V>()
    override val size: Int get() = entries.size
    var limit: Int = 100
        private set
    lateinit var owner: String
    private val loader by lazy {
        val local = 1
        Loader(local)
    }

    constructor() : this(Policy.LRU)

    /** For tests. */
    constructor(limit: Int) : this(Policy.FIFO) {
        this.limit = limit
    }

    init {
        val created = clock.now()
        logger.info("created at $created")
    }

    @Deprecated("use get")
    @Synchronized
    fun fetch(key: K): V? = entries[key]

    override suspend fun get(key: K): V? {
        fun fallback(): V? {
            return null
        }
        return entries[key] ?: fallback()
    }

    operator fun set(key: K, value: V) { entries[key] = value }

    override fun close() = Unit

    fun K.cached(): V? = entries[this]

    inner class Stats {
        fun ratio() = 0.5
    }

    companion object {
        const val NAME = "memory"
        @JvmStatic fun <K : Any, V> create(): MemoryCache<K, V> = MemoryCache()
    }
}

object Registry : Iterable<Cache<*, *>> {
    private val all = mutableListOf<Cache<*, *>>()
    val watcher = object : Watcher {
        override fun changed() {
            all.clear()
        }
    }
    override fun iterator() = all.iterator()
}

fun <T> Flow<T>.cachedIn(cache: Cache<String, T>): Flow<T> = this
inline fun <reified T : Any> Cache<*, *>?.orEmpty(): List<T> = emptyList()
val String.cacheKey: String get() = lowercase()
fun `drops the oldest entry`() {}

class Sizing(val where: Cache<*, *>?) {
    val limit
        @JvmName("limitOf")
        get() = 10

    fun of(value: Any, strict: Boolean): Int {
        val known = when (value) {
            is String if value.isNotEmpty() -> value.length
            is List<*> if (
                strict && value.isEmpty()
            ) -> 0
            else -> limit
        }
        where?.let {
            it.close()
        }
        return known
    }

    fun after() = 0
}
