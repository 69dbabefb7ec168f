package main

import (
	"encoding/asn1"
	"encoding/pem"
)

// A PKCS #12 file (RFC 7292) with unencrypted certificates. Java trusts those with its own attribute.
type (
	pkcs12 struct {
		Version int
		Content pkcs12Content
	}
	pkcs12Content struct {
		Type asn1.ObjectIdentifier
		Data []byte `asn1:"tag:0,explicit"`
	}
	pkcs12Bag struct {
		Type       asn1.ObjectIdentifier
		Cert       pkcs12Cert        `asn1:"tag:0,explicit"`
		Attributes []pkcs12Attribute `asn1:"set"`
	}
	pkcs12Cert struct {
		Type asn1.ObjectIdentifier
		DER  []byte `asn1:"tag:0,explicit"`
	}
	pkcs12Attribute struct {
		Type   asn1.ObjectIdentifier
		Values []asn1.ObjectIdentifier `asn1:"set"`
	}
)

var (
	pkcs12Data    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	pkcs12CertBag = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 3}
	pkcs12X509    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 22, 1}
	trustedByJava = asn1.ObjectIdentifier{2, 16, 840, 1, 113894, 746875, 1, 1}
	trustedForAll = asn1.ObjectIdentifier{2, 5, 29, 37, 0}
	javaTrusts    = []pkcs12Attribute{{trustedByJava, []asn1.ObjectIdentifier{trustedForAll}}}
)

// trustStore converts the certificates of a PEM bundle to Java's format.
func trustStore(bundle []byte) ([]byte, error) {
	var bags []pkcs12Bag
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			bags = append(bags, pkcs12Bag{pkcs12CertBag, pkcs12Cert{pkcs12X509, block.Bytes}, javaTrusts})
		}
	}
	contents, err := asn1.Marshal(bags)
	if err != nil {
		return nil, err
	}
	safe, err := asn1.Marshal([]pkcs12Content{{pkcs12Data, contents}})
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(pkcs12{3, pkcs12Content{pkcs12Data, safe}})
}
