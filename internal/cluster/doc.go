// Package cluster spreads jobs over machines by NATS JetStream. A coordinator posts jobs on a [Board]; workers on any
// number of machines take them by [Conn.Serve], and the board hands out what came of them. The package moves bytes: it
// knows nothing of what a job is.
//
// # What lies where
//
// A job is a message of a work queue, the stream DPTRAIN_TASKS, under a subject of its own: posting it twice makes one
// message. A worker holds a lease on it, which it renews while its jobs make progress; when the lease runs out, the
// server hands the job to another worker. What comes of a job goes into the stream DPTRAIN_RESULTS, a large one in
// parts of half a megabyte before the message that names them. Only then the job is acknowledged, so at every moment
// it is in the queue or its result is there. The board looks every few seconds whether that is so, and posts again
// what a server has lost; it also looks at the results again if there is one that hasn't arrived. A job may be carried
// out twice, by a worker that was thought dead. Then the board hands out two results, and the caller decides: jobs are
// to be such that both are equal.
//
// JetStream's object store isn't used: an object takes a dozen requests where a small result takes one, and a worker
// that is killed while it writes one leaves chunks under random names, which nobody can remove.
//
// # Who sees what
//
// Every message is sealed with a secret that the coordinator and its workers share, and bound to its subject: a
// server, or whoever listens, sees when messages pass, how long they are, and their subjects, which have keyed hashes
// and random numbers. What is secret in a job isn't stored anywhere: a worker asks the coordinator for it when it
// begins, with a public key that is made for its process, and the coordinator seals it for that key. Whoever learns
// the shared secret later can open what was recorded of the rest, and not these secrets. [File] has the secret, and
// what a connection takes.
//
// Whoever has the shared secret is trusted: it can take the secrets of jobs, hand in results of its own making, and
// pass itself off as a coordinator. Who may use the server without the shared secret can delay and lose messages,
// send them again, and so decide which of two results of a job arrives first. It can read, make or change none.
package cluster
