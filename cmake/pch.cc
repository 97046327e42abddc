// Gives the precompiled header of standard headers a target to belong to.
