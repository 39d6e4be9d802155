// Package sheet holds the common parts of all our web pages: the style sheet, the content security policy that forbids
// everything else, and the beginning of a page.
package sheet
