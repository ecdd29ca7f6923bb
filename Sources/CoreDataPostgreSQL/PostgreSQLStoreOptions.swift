// Options of stores on PostgreSQL, beside those of all stores.

/// Option: whether statements are prepared in the session. A boolean, true unless given; false behind a pooler that gives
/// each transaction another session, such as PgBouncer in transaction mode.
public let NSPostgreSQLPreparesStatementsOption = "NSPostgreSQLPreparesStatementsOption"

/// Option: how many query generations may be in use at a time. A number, zero unless given: contexts then read the latest
/// state, whatever they are pinned to.
///
/// Each takes a connection beside the pool, and keeps the server from removing old row versions in the whole database.
public let NSPostgreSQLQueryGenerationsOption = "NSPostgreSQLQueryGenerationsOption"

/// Option: seconds after which a query generation ends. A number, 300 unless given. Reads of a context that is pinned to it
/// fail from then on, until the context is pinned to another one.
public let NSPostgreSQLQueryGenerationAgeOption = "NSPostgreSQLQueryGenerationAgeOption"

/// Option: whether the server tells other programs of each save at once (`NOTIFY`). A boolean, false unless given: they then
/// notice within half a second.
///
/// A server commits such transactions of all its databases one after the other. With many writers leave it out. Poolers in
/// transaction mode pass no notifications on.
public let NSPostgreSQLNotifiesOption = "NSPostgreSQLNotifiesOption"

/// Option: the bucket that new objects belong to. A number from 1 to 32,767, which becomes the 16 high bits of their keys; none
/// unless given.
///
/// A table can then be split by ranges of its keys: into partitions on one server, or over the servers of a distributed
/// database. Programs of several buckets share a store, and see and change objects of all of them.
public let NSPostgreSQLKeyBucketOption = "NSPostgreSQLKeyBucketOption"

/// Option: a replica that objects are read from. A `URL`, or its text, as the store's own; the schema is the store's.
///
/// A store sees its own saves, and all that it has read before: a replica that has not replayed so much is passed over, and
/// the primary is read. What other programs save is seen once the replica has it. Histories and metadata are read from the
/// primary, as everything in saves is.
public let NSPostgreSQLReplicaOption = "NSPostgreSQLReplicaOption"
