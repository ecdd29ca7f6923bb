/// Terminal facts.
package enum Terminal {}
