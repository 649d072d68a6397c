"""What calls cost: prices as values, where they are looked up, and the charge for a usage."""

from holdfast.cost.books import GivenPrices, Layered, Price, PriceBook, Ttl, charge, uncached_charge

__all__ = ["GivenPrices", "Layered", "Price", "PriceBook", "Ttl", "charge", "uncached_charge"]
