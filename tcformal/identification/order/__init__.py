"""The order of summation of a device, from masks."""
