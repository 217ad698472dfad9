"""Does a property hold of a unit?"""
