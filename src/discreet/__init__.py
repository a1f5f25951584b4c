"""discreet: release records that say as much as possible about what may be known, and provably little about a secret."""
