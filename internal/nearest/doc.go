// Package nearest finds the name that a mistyped one most likely stands for. Call [Name] with the candidates and a
// measure such as [Distance]; the caller decides which candidates are near enough to suggest.
package nearest
