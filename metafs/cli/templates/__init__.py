"""The files of a new plugin: `metafs.cli.new_plugin` replaces ``newplugin`` and ``NewPlugin``."""
