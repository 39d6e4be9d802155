// Package strict reads JSON without overlooking anything. Call [Decode] for a value whose Go type has all members, and
// [Object] for the members of an object: encoding/json alone would accept repeated names and other cases.
package strict
