// Package strict reads JSON in which nothing may be overlooked. Call [Decode] for a value whose Go type has all
// members, and [Object] for the members of an object, which encoding/json alone would take twice or in another case.
package strict
