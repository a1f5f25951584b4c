"""discreet: released records say as much as possible about what may be known, provably little about a secret."""
