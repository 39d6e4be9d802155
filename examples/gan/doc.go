// Command gan is an example to copy: a generator of small digits, trained by a rule of one's own. Real digits are
// classified by those that it made.
package main
