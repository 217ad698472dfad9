"""The record of an identification, and its check without the device."""
