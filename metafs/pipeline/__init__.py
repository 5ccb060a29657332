"""One problem from source to record, and the loop over a stream of them."""
