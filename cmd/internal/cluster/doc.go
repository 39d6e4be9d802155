// Package cluster spreads jobs over machines by NATS JetStream. A coordinator posts jobs on a [Board]; workers on any
// number of machines take them by [Conn.Serve], and the board hands out their results. The package moves bytes: it
// knows nothing of a job's content.
//
// # What lies where
//
//	DPTRAIN_JOBS      work queue    dptrain.jobs.<lane>.<campaign>.<job>: a message is a job that isn't done
//	DPTRAIN_RESULTS   work queue    dptrain.results.<campaign>.<job>: a message is a result that isn't filed
//	DPTRAIN_LARGE     object store  results that are too large for a message
//	DPTRAIN_WORKERS   key-value     heartbeats of workers, which expire
//	DPTRAIN_DATA      key-value     <campaign>.<group>: hash of the data that the first worker of a group had
//
// Each lane has a durable consumer. Workers fetch jobs from it; its acknowledgement wait is the lease, which a worker
// extends by InProgress while its jobs make progress. When the lease runs out, the server redelivers the job. A worker
// publishes a result, waits for the server's answer, and then acknowledges the job, so at every moment a job is in the
// queue or its result is there. Each campaign has a durable consumer of its results, and the board acknowledges a
// result when its caller has filed it. A job may be done twice, by a worker that was thought dead; then the board hands
// out two results, and the first counts.
//
// A job carries the build that it is for and, if the coordinator knows it, the hash of its data. A worker that differs
// refuses the job. The board posts again every few seconds what a server has lost with its disk.
//
// # Who sees what
//
// Connections are by TLS, and an NKey says who may connect; both are in a [File]. The server sees jobs, results and
// heartbeats: it is trusted as the coordinator is. A job's secret is in no stream: a worker that has the job asks the
// coordinator for it, by request and reply. Every holder of the file can do the same.
package cluster
