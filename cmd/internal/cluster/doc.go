// Package cluster spreads jobs over machines by NATS JetStream. A coordinator posts jobs on a [Board], workers do them
// by [Conn.Serve], and the board hands out their results. The package moves bytes: it can't read a job's content.
//
// # Streams and stores on the server
//
//	DPTRAIN_JOBS      work queue    dptrain.jobs.<lane>.<campaign>.<job>: a message is a job that isn't done
//	DPTRAIN_RESULTS   work queue    dptrain.results.<campaign>.<job>: a message is a result that isn't filed
//	DPTRAIN_LARGE     object store  results that are too large for a message
//	DPTRAIN_WORKERS   key-value     heartbeats of workers, which expire
//	DPTRAIN_DATA      key-value     <campaign>.<group>: hash of the data of the group's first worker
//
// Each lane has a durable consumer. Workers fetch jobs from it; its acknowledgement wait is the lease, which a worker
// extends by InProgress while its jobs make progress. When the lease runs out, the server redelivers the job. A worker
// publishes a result, waits for the server's answer, and then acknowledges the job, so at every moment a job or its
// result is on the server. Each campaign has a durable consumer of its results, and the board acknowledges a result
// when its caller has filed it. A worker that was thought dead may do a job a second time. Then the board hands out two
// results, and the first counts.
//
// A job names the build that it is for and, if the coordinator knows it, the hash of its data. A worker that differs
// refuses the job. If a server loses its disk, the board posts the lost jobs again within seconds.
//
// # Who sees what
//
// Connections use TLS, and an NKey says who may connect; a [File] has both. The server sees jobs, results and
// heartbeats: it is trusted as the coordinator is. A job's secret is in no stream: a worker that has the job requests
// it from the coordinator. Every holder of the file can do the same.
package cluster
