// Nothing: a target that precompiled headers belong to has to have a source.
