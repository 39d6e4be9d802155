// Package sheet holds what all web pages of ours have in common: the style sheet, the content security policy that
// forbids everything else, the beginning of a page, and how texts of others are cleaned.
package sheet
