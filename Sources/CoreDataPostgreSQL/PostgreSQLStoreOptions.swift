// Options of PostgreSQL stores, beside those of all stores.

/// Option: whether statements are prepared in the session. A boolean, true by default. Set it to false behind
/// a pooler that assigns a session to each transaction, such as PgBouncer in transaction mode.
public let NSPostgreSQLPreparesStatementsOption = "NSPostgreSQLPreparesStatementsOption"

/// Option: seconds that a fetch, a fault, a count or a save may take, including the wait for a connection, connecting,
/// and repetitions. A number, 240 by default; zero for no limit.
///
/// Then the call fails with `NSPersistentStoreTimeoutError`, at most three seconds later, whatever the server and the
/// network do: its statement is cancelled, or else its connection given up. A save that fails so is not stored; one
/// whose COMMIT was on the way fails with `NSPersistentStoreSaveError` if the server cannot be asked in time whether it
/// is. Batch requests and migrations take as long as they take.
///
/// `NSPersistentStoreTimeoutOption` limits the wait for a connection alone.
public let NSPostgreSQLDeadlineOption = "NSPostgreSQLDeadlineOption"

/// Option: seconds for which contexts show rows that any context of the coordinator has read before. A number, 5 by
/// default; negative for no limit.
///
/// A context shows nothing in any case that was read before it was created, reset, refreshed as a whole or last saved. The
/// option is for contexts that live on, and whose `stalenessInterval` the program has not set. What an object shows
/// already it keeps until it is refreshed or becomes a fault.
public let NSPostgreSQLRowAgeOption = "NSPostgreSQLRowAgeOption"

/// Option: whether cached rows are kept current by the store's history. A boolean, false by default; the store must keep a
/// history (`NSPersistentHistoryTrackingKey`).
///
/// Twice a second, and at once with `NSPostgreSQLNotifiesOption`, the store asks which objects other programs have changed, and drops
/// their cached rows. All others are shown beyond `NSPostgreSQLRowAgeOption` without being read again, and changed ones after
/// half a second instead of five. While the server does not answer, rows age as without the option.
///
/// The history does not record rows that are written by SQL of your own, nor derived attributes that triggers change with
/// other objects: leave the option off where such SQL changes objects. Entities with such derived attributes age as before.
public let NSPostgreSQLFollowsHistoryOption = "NSPostgreSQLFollowsHistoryOption"

/// Option: maximum number of query generations in use at a time. A number, zero by default: contexts then
/// read the latest state, even if they are pinned.
///
/// Each generation takes a connection outside the pool, and keeps the server from vacuuming old row versions
/// in the whole database.
public let NSPostgreSQLQueryGenerationsOption = "NSPostgreSQLQueryGenerationsOption"

/// Option: seconds after which a query generation expires. A number, 300 by default. Reads of a context
/// pinned to an expired generation fail until the context is pinned to another one.
public let NSPostgreSQLQueryGenerationAgeOption = "NSPostgreSQLQueryGenerationAgeOption"

/// Option: whether the server notifies other programs of each save immediately (`NOTIFY`). A boolean, false
/// by default: other programs then notice within half a second.
///
/// A server serializes the commits of such transactions across all its databases, so leave the option off
/// with many writers. Poolers in transaction mode do not forward notifications.
public let NSPostgreSQLNotifiesOption = "NSPostgreSQLNotifiesOption"

/// Option: the number of idle connections that stay open. A number, 1 by default.
///
/// Further ones are closed some time after their last use, see `NSPostgreSQLIdleTimeOption`. Zero is for programs with many stores of which few are used at a
/// time, such as a schema for each tenant: a store without connection holds none of the server's, and connects at its next
/// use, which takes some milliseconds. Listening for other programs' saves takes a connection all the same.
public let NSPostgreSQLIdleConnectionsOption = "NSPostgreSQLIdleConnectionsOption"

/// Option: seconds after which an idle connection is closed. A number, 300 by default.
///
/// Set it below the time after which a firewall or the server's `idle_session_timeout` ends such connections.
public let NSPostgreSQLIdleTimeOption = "NSPostgreSQLIdleTimeOption"

/// Option: the bucket of new objects. A number from 1 to 32,767, which becomes the 16 high bits of their
/// keys; none by default.
///
/// A table can then be split by key ranges, into partitions on one server or over the servers of a
/// distributed database. Programs with different buckets can share a store, and see and change objects of all
/// buckets.
public let NSPostgreSQLKeyBucketOption = "NSPostgreSQLKeyBucketOption"

/// Option: a replica to read objects from. A `URL`, or its text, in the same form as the store's; the schema
/// is the store's.
///
/// A store sees its own saves and everything it has read before: if a replica has not replayed that much, the
/// store reads from the primary. Saves of other programs become visible once the replica has replayed them.
/// Histories, metadata and all reads within saves use the primary.
public let NSPostgreSQLReplicaOption = "NSPostgreSQLReplicaOption"
