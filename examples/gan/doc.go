// Command gan is an example to copy: a generator of small digits, trained by a rule of one's own. A classifier learns
// from its digits alone.
package main
