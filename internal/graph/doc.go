// Package graph reads Gorgonia's graphs: a node's operands and name, and an operation's type, operator and settings.
// The compiler and the oracle of its tests both read graphs by this package, and share nothing else.
//
// Gorgonia (v0.9.18) keeps all of these in unexported types and fields. This package finds them by reflection, for the
// version that go.mod pins. Tests compare them with what Gorgonia prints, and run every operation against Gorgonia
// itself, so that a version with other names or numbers fails there.
//
// Gorgonia's graph finds nodes by an index, which is wrong once a node has been removed. And Gorgonia removes nodes by
// itself, for example the node 1-x when a graph takes its logarithm. So [Operands] asks the node, never the graph.
package graph
