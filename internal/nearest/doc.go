// Package nearest finds the name that a mistyped one most likely stands for. [Name] is the search and [Distance] the
// usual measure; what is near enough to be worth suggesting is for each caller to say.
package nearest
