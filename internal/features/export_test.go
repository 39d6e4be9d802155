package features

// Version is what tests hold against the network.
const Version = version
