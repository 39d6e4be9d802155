// Command attention is an example to copy: a classifier of token ids by attention: does a text name an animal before it
// names a colour?
package main
