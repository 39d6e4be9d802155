// Package nearest finds the valid name that is most similar to a mistyped one. Call [Name] with the candidates and a
// measure such as [Distance]; the caller decides which candidates are near enough to suggest.
package nearest
