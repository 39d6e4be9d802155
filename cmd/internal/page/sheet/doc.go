// Package sheet holds the common parts of all our web pages: the style sheet, the content security policy that forbids
// everything else, the beginning of a page, and the cleaning of foreign texts.
package sheet
